/** For statements that take no parameters, such as `do` and `create index`. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // Whether a plain string knows backslashes is a setting of the server's; an E string always does.
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** A dollar quote around `body`, under a tag that it does not contain. */
export function dollarQuote(body: string): string {
  let tag = '$leasehold$';
  for (let count = 1; body.includes(tag); count++) tag = `$leasehold_${count}$`;
  return `${tag}\n${body}\n${tag}`;
}
