/** Four roles to a digit. */
const DIGIT_BITS = 4;

/** Some of the roles of a partition, in the form of {@link Membership.excluded}; undefined for none. */
export function writeRoleSet(count: number, includes: (partition: number) => boolean): string | undefined {
  const digits = new Uint8Array(Math.ceil(count / DIGIT_BITS));
  let isEmpty = true;
  for (let partition = 0; partition < count; partition += 1) {
    if (!includes(partition)) continue;
    const digit = Math.floor(partition / DIGIT_BITS);
    digits[digit] = (digits[digit] ?? 0) | (1 << (partition % DIGIT_BITS));
    isEmpty = false;
  }
  return isEmpty ? undefined : Array.from(digits, (digit) => digit.toString(16)).join('');
}

export function readRoleSet(count: number, written: string | undefined): readonly boolean[] {
  const digits = Array.from(written ?? '', (digit) => Number.parseInt(digit, 16));
  return Array.from({ length: count }, (_, partition) => {
    const digit = digits[Math.floor(partition / DIGIT_BITS)] ?? 0;
    return ((digit >> (partition % DIGIT_BITS)) & 1) === 1;
  });
}
