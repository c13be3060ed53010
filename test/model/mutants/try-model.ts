import fc from 'fast-check';
import { roleLeaseProperty } from '../role-lease-property.ts';

/** Plays the model on the core beside it: exits with 0 when every history kept the rules, with 3 and what it found when not. */
const [runs = '1000', seed = '1'] = process.argv.slice(2);
const { failed, errorInstance, numRuns } = await fc.check(roleLeaseProperty(), {
  numRuns: Number(runs),
  seed: Number(seed),
  endOnFailure: true,
});
if (failed) {
  const said = errorInstance instanceof Error ? errorInstance.message.split('\n')[0] : String(errorInstance);
  console.log(`after ${numRuns} histories: ${said}`);
  process.exit(3);
}
process.exit(0);
