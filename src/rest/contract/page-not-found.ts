import type { HttpResponse } from '../../lib/http/http.js';

/** The answer for a path that nothing at all is served at. */
export const pageNotFound = (): HttpResponse => ({
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: '404 page not found\n',
});
