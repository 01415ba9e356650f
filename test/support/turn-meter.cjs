// Loaded into a server under test (node --require): tells how much processor time its longest turn took since it was last
// asked. Processor time, as a loaded machine makes every turn long. Whoever connects to the socket that
// BINNACLE_TURN_METER names is told `{"longestMs":…,"totalMs":…}`, and the count begins anew.
'use strict';
const fs = require('node:fs');
const net = require('node:net');

const INTERVAL_MS = 2;
const path = process.env['BINNACLE_TURN_METER'];
delete process.env['BINNACLE_TURN_METER'];
if (path !== undefined) meter();

function meter() {
  const file = fs.openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  const usedMs = () => Number(bytes.latin1Slice(0, fs.readSync(file, bytes, 0, 64, 0)).split(' ', 1)[0]) / 1e6;
  let last = usedMs();
  let first = last;
  let longestMs = 0;
  const look = () => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  setInterval(look, INTERVAL_MS).unref();
  const server = net.createServer((socket) => {
    look();
    socket.on('error', () => undefined);
    socket.end(JSON.stringify({ longestMs, totalMs: last - first }));
    first = last;
    longestMs = 0;
  });
  server.listen(path).unref();
}
