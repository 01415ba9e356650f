import { parseExactJson } from '../../schema/json/parse.js';

/** Which of two members of one name is believed would depend on who reads them. */
export function refuseRepeated(json: string): void {
  for (const members of parseExactJson(json).repeated.values()) {
    const seen = new Set<string>();
    for (const [key] of members) {
      if (seen.has(key)) throw new Error(`json: duplicate key '${key}' in object`);
      seen.add(key);
    }
  }
}
