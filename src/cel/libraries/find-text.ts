// Finding a text in another in linear time. The engine's own search is quicker for short parts, but compares a long one
// anew at each place: of two texts of a megabyte that took minutes.

/** Parts of so many characters are left to the engine. */
const SHORT = 16;

/** Where a part begins at or after a place; -1 where it does not. */
export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= SHORT) return text.indexOf(part, from);
  const [first = -1] = placesOf(text, part, from);
  return first;
}

/** Where a part begins last, at or before a place. */
export function lastIndexOfText(text: string, part: string, until = text.length): number {
  if (part.length <= SHORT) return text.lastIndexOf(part, until);
  let last = -1;
  for (const place of placesOf(text, part, 0)) {
    if (place > until) break;
    last = place;
  }
  return last;
}

/** Each place where a part begins, overlapping ones too: what matched so far says where to go on (Knuth, Morris, Pratt). */
function* placesOf(text: string, part: string, from: number): Iterable<number> {
  if (text.length - from < part.length) return;
  const borders = bordersOf(part);
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === letter) matched++;
    if (matched < part.length) continue;
    yield i + 1 - matched;
    matched = borders[matched - 1] ?? 0;
  }
}

/** Of each prefix of a part, how much of its end is a prefix as well. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let matched = 0;
  for (let i = 1; i < part.length; i++) {
    const letter = part.charCodeAt(i);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === letter) matched++;
    borders[i] = matched;
  }
  return borders;
}
