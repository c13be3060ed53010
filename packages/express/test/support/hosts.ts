import express from 'express';
import express4 from 'express4';

/** A version of Express. The tests use what both have, by the types of the later one. */
export interface Host {
  readonly name: string;
  readonly express: typeof express;
}

export const hosts: readonly Host[] = [
  { name: 'Express 4', express: express4 as unknown as typeof express },
  { name: 'Express 5', express },
];
