import { headerText } from '../../lib/http/header-text.js';
import type { HttpRequest } from '../../lib/http/http.js';
import { managerFromUserAgent } from '../../schema/apply/field-manager.js';

/** Who a write is noted under: as stated, or else the program's name from its user agent. */
export function managerName(stated: string, http: HttpRequest): string {
  return stated || managerFromUserAgent(headerText(http.headers['user-agent'] ?? '')) || 'unknown';
}
