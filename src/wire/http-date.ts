let lastSecond = 0;
let lastDate = '';

/** As the `Date` header has it. The same string all second long. */
export function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = new Date(second * 1000).toUTCString();
  }
  return lastDate;
}
