// Lengths and tags of messages that are put together from bytes that exist.

/** How many bytes it takes. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Where the next byte goes. */
export function putVarint(target: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) target[at++] = (rest % 128) + 128;
  target[at++] = rest;
  return at;
}
