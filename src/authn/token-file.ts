// Static tokens: one CSV record each, `token,user,uid,"group1,group2"`.
import type { Logger } from '../lib/telemetry/log.js';
import { parseCsv } from '../lib/text/csv.js';
import type { UserInfo } from '../machinery/user.js';
import type { Authenticated, TokenAuthenticator } from './authenticator.js';

/** `path` is only for messages. Throws an Error that says what is wrong with the file, and on which line. */
export function parseTokenFile(text: string, path: string, log: Logger): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [index, { line, fields }] of parseCsv(text).entries()) {
    const [token = '', name = '', uid = '', groups] = fields;
    if (fields.length < 3) {
      throw new Error(
        `token file '${path}' must have at least 3 columns (token, user name, user uid), found ${fields.length} on line ${line}`,
      );
    }
    if (token === '') {
      log.warning(`empty token has been found in token file '${path}', record number '${index + 1}'`);
      continue;
    }
    if (users.has(token))
      log.warning(`duplicate token has been found in token file '${path}', record number '${index + 1}'`);
    users.set(token, { name, groups: groups === undefined ? [] : groups.split(','), ...(uid === '' ? {} : { uid }) });
  }
  return users;
}

/** These tokens know no audiences: they hold for the server's own. */
export function createTokenFileAuthenticator(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  return {
    authenticateToken(token): Promise<Authenticated | undefined> {
      const user = users.get(token);
      return Promise.resolve(user === undefined ? undefined : { user });
    },
  };
}
