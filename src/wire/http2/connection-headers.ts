/** What HTTP/1.1 says of a connection. HTTP/2 has no such headers: sent ones are a mistake, and an answer's `close` becomes GOAWAY. */
export const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);
