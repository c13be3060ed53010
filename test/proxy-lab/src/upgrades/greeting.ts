/** What the holder says first, unasked, on each connection. */
export const GREETING = 'welcome';
