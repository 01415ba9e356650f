// What the machine could do at best: a bare node:http2 server over TLS that answers prepared bytes, puts bodies
// durably into the same engine, and writes one event to all who watch. Started by tools/bench.mjs.
import fs from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';
import { open } from 'lmdb';

const { folder, certFile, keyFile, objectFile, listFile, eventFile } = JSON.parse(process.argv[2]);
const object = fs.readFileSync(objectFile);
const list = fs.readFileSync(listFile);
const event = fs.readFileSync(eventFile);
const db = open({
  path: path.join(folder, 'bare.mdb'),
  noSubdir: true,
  overlappingSync: false,
  encoding: 'binary',
  cache: false,
});
let next = 0;
const watchers = new Set();
const JSON_HEADERS = { ':status': 200, 'content-type': 'application/json' };

const server = http2.createSecureServer({ cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile), ca: [] });
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  switch (headers[':path']) {
    case '/get':
      stream.respond(JSON_HEADERS);
      stream.end(object);
      return;
    case '/list':
      stream.respond(JSON_HEADERS);
      stream.end(list);
      return;
    case '/create':
      void create(stream);
      return;
    case '/watch':
      stream.respond(JSON_HEADERS);
      watchers.add(stream);
      stream.on('close', () => watchers.delete(stream));
      return;
    case '/event':
      void create(stream).then(() => {
        for (const watcher of watchers) watcher.write(event);
      });
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

async function create(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  const body = Buffer.concat(parts);
  const parsed = JSON.parse(body.toString());
  await db.put(`${parsed.metadata.generateName}${next++}`, body);
  if (stream.destroyed) return;
  stream.respond({ ':status': 201, 'content-type': 'application/json' });
  stream.end(body);
}
