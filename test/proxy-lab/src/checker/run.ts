/** One execution, as the instance wrote it down that executed. */
export interface Run {
  readonly id: string;
  readonly instance: string;
  /** Reading of `nowUs`, from just before the proxy decided. */
  readonly at: number;
  /** Under which term; null when it held nothing. */
  readonly token: number | null;
}

/** A client was gone. */
export interface Left {
  readonly id: string;
  readonly at: number;
}
