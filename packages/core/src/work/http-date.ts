const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

/** RFC 9110, 5.6.7: the form to send, and the two obsolete ones that a recipient has to take. All are in UTC. */
const FORMS = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** A year of two digits that would be more than 50 years ahead is the last one that ended in these. */
const FARTHEST_YEARS = 50;

/**
 * Reads a date of HTTP as milliseconds since the Unix epoch; null when it is none. `Date.parse` would take much else, and
 * the form without a zone as local time.
 */
export function parseHttpDate(text: string, nowMs: number): number | null {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { day, month = '', year = '', hour, minute, second } = parts;
  const monthIndex = MONTHS.indexOf(month);
  const fullYear = year.length === 2 ? nearestYear(Number(year), nowMs) : Number(year);
  const date = new Date(Date.UTC(fullYear, monthIndex, Number(day), Number(hour), Number(minute), Number(second)));
  // 30 February is a date to Date.UTC, and 25 o'clock; the second 60 is one to HTTP as well.
  const exists = date.getUTCMonth() === monthIndex && Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60;
  return exists ? date.getTime() : null;
}

function nearestYear(lastDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + lastDigits;
  return inThisCentury > thisYear + FARTHEST_YEARS ? inThisCentury - 100 : inThisCentury;
}
