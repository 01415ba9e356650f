// The webhook that tools/bench-hooks.mjs calls: a process of its own that gets its certificate from its parent.
import https from 'node:https';

const PATCH = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels/hooked', value: 'yes' }])).toString(
  'base64',
);

/** Allows every object, with a label more where it has none. */
export const answerOf = (body) => {
  const uid = /"uid":"([^"]*)"/.exec(body)[1];
  const patch = body.includes('"hooked"') ? {} : { patchType: 'JSONPatch', patch: PATCH };
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: true, ...patch },
  });
};

process.once('message', (tls) => {
  const server = https.createServer(tls, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => response.setHeader('content-type', 'application/json').end(answerOf(body)));
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
});
process.once('disconnect', () => process.exit());
