/** Spellings that one router or another takes for a path below `/maintenance`; a router that knows better runs nothing. */
const KNOWN = [
  '/%6daintenance/../x',
  '/%6daintenance/..',
  '//maintenance/../x',
  '//host/maintenance/x',
  '///host/maintenance',
  '/\\host/maintenance',
  '//user@host/maintenance/x#',
  '//user@host/maintenance#@',
  'http:///host/maintenance/x',
  'http://host?x/maintenance/x',
  'http://host?/maintenance',
  'foo://host/maintenance/x',
  '*maintenance/x',
  '*/maintenance/x',
  '*',
  '/MAINTENANCE/..',
  '/maintenance\\x#',
  '/maintenance;x/y',
];

const INSERTED = [
  '/ // /./ /../ .. . \\ /x/.. /x/../ //.. %2e %2E%2e # ? ; * %2f %5c %25 %20 %00',
  "@ : //h /\\h //u@h http://h http:// http:/// ws://h http://h? ' { \\..\\",
].flatMap((line) => line.split(' '));

/** What is known, and paths that were changed at random: the same ones every time. */
export function pathSpellings(): readonly string[] {
  const random = randomNumbers(20_261_130);
  const changed = Array.from({ length: 400 }, () => {
    let path = ['/maintenance', '/maintenance/x'][random(2)] as string;
    for (let changes = 1 + random(4); changes > 0; changes--) path = change(path, random);
    return path;
  });
  return [...KNOWN, ...changed];
}

function change(path: string, random: (below: number) => number): string {
  const place = random(path.length);
  const character = path.charAt(place);
  const isMark = '/?#%'.includes(character);
  const kind = random(6);
  if (kind === 0 && !isMark) return splice(path, place, `%${character.charCodeAt(0).toString(16)}`);
  if (kind === 1) return splice(path, place, character.toUpperCase());
  const at = kind < 4 ? ([0, 1, path.length, '/maintenance'.length][random(4)] as number) : place;
  return path.slice(0, at) + INSERTED[random(INSERTED.length)] + path.slice(at);
}

function splice(path: string, place: number, text: string): string {
  return path.slice(0, place) + text + path.slice(place + 1);
}

/** A linear congruential generator, so that a failure comes again. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
