// Time zones by the names the tz database has for them. The runtime knows them all, but accepts them in any case, and
// abbreviations of its own besides.

/** Those that lie in no region. */
const ALONE = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland ' +
    'Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK ' +
    'Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);

/** Words within names that are not written as names are, with one capital in front. */
const SPELT = new Map(
  (
    'of es au UTC GMT UCT ACT LHI NSW IN US McMurdo DumontDUrville ComodRivadavia BajaNorte BajaSur DeNoronha ' +
    'EasterIsland'
  )
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
);

/** Names that only the runtime has. */
const FOREIGN = /^SystemV\/|^US\/Pacific-New$/;

export function isKnownTimeZone(name: string): boolean {
  if (name === '' || ALONE.has(name)) return true;
  if (!name.includes('/') || FOREIGN.test(name) || asSpelt(name) !== name) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const asSpelt = (name: string): string =>
  name.replace(/[A-Za-z]+/g, (word) => {
    const lower = word.toLowerCase();
    return SPELT.get(lower) ?? `${lower.charAt(0).toUpperCase()}${lower.slice(1)}`;
  });
