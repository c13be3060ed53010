import type { Outcome } from '../client/outcome.ts';

/** The longest time in which there were refusals and nothing else, from the answer before to the answer after. */
export function longestRefusalMs(outcomes: readonly Outcome[]): number {
  const answers = outcomes.filter(({ headAt }) => headAt !== null).sort((a, b) => (a.headAt ?? 0) - (b.headAt ?? 0));
  let longest = 0;
  let lastAnswer: number | null = null;
  let refused = false;
  for (const { headAt, by } of answers) {
    if (by === null) refused = true;
    else {
      if (refused && lastAnswer !== null) longest = Math.max(longest, (headAt ?? 0) - lastAnswer);
      lastAnswer = headAt;
      refused = false;
    }
  }
  return longest / 1_000;
}
