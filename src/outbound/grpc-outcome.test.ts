import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endOutcome, headFault, lostOutcome, resetOutcome } from './grpc-outcome.js';

const GRPC = 'application/grpc';

describe('the outcome of a gRPC call', () => {
  it('follows from an HTTP status other than 200, whatever the other fields say', () => {
    const statuses = [400, 401, 403, 404, 429, 500, 502, 503, 504, 204].map((status) => {
      const fault = headFault({ ':status': String(status), 'content-type': GRPC, 'grpc-status': '5' });
      return [status, fault?.status];
    });
    assert.deepEqual(statuses, [
      [400, 13],
      [401, 16],
      [403, 7],
      [404, 12],
      [429, 14],
      [500, 2],
      [502, 14],
      [503, 14],
      [504, 14],
      [204, 2],
    ]);
    assert.equal(
      headFault({ ':status': '404', 'content-type': 'text/html' })?.message,
      'unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected content-type "text/html"',
    );
  });

  it('is unknown where the answer is of another type, or of none', () => {
    for (const type of [GRPC, `${GRPC}+proto`, `${GRPC};x=y`]) {
      assert.equal(headFault({ ':status': '200', 'content-type': type }), undefined, type);
    }
    for (const type of ['application/grpcfoo', 'APPLICATION/GRPC', 'application/json']) {
      assert.equal(headFault({ ':status': '200', 'content-type': type })?.status, 2, type);
    }
    assert.deepEqual(headFault({ ':status': '200' }), {
      status: 2,
      message: 'malformed header: missing HTTP content-type',
    });
  });

  it('is what the last headers say, and unknown where they say nothing', () => {
    assert.deepEqual(endOutcome({ 'grpc-status': '5', 'grpc-message': 'no%20key' }), { status: 5, message: 'no key' });
    assert.deepEqual(endOutcome({ 'grpc-status': '-1' }), { status: 4294967295, message: '' });
    assert.deepEqual(endOutcome({ 'x-y': 'z' }), { status: 2, message: '' });
    const statuses = ['x', '', '0x5', '4294967296'].map((sent) => endOutcome({ 'grpc-status': sent }).status);
    assert.deepEqual(statuses, [13, 13, 13, 13]);
    const malformed = 'transport: malformed grpc-status: strconv.ParseInt: parsing "x": invalid syntax';
    assert.equal(endOutcome({ 'grpc-status': 'x' }).message, malformed);
    const metadata = endOutcome({ 'grpc-status': '0', 'x-bin': '***' });
    assert.deepEqual(metadata, {
      status: 13,
      message: 'transport: malformed x-bin: illegal base64 data at input byte 0',
    });
  });

  it('keeps what is no escape in its message', () => {
    const messages = ['%41%zz%42', '100%', 'a%2', '%e4%bd%a0'].map(
      (sent) => endOutcome({ 'grpc-status': '2', 'grpc-message': sent }).message,
    );
    assert.deepEqual(messages, ['A%zzB', '100%', 'a%2', '你']);
  });

  it('of a stream that is reset is by the code of the reset', () => {
    assert.deepEqual(
      [0, 1, 3, 7, 8, 11, 12, 14].map((code) => resetOutcome(code).status),
      [13, 13, 8, 14, 1, 8, 7, 2],
    );
    assert.equal(resetOutcome(99).message, 'stream terminated by RST_STREAM with error code: unknown error code 0x63');
  });

  it('of a connection that is lost is unavailable, with what the server said before', () => {
    assert.deepEqual(lostOutcome('EOF', undefined), { status: 14, message: 'error reading from server: EOF' });
    assert.match(
      lostOutcome('EOF', { code: 2, debugData: 'bye' }).message,
      /goaway: code: INTERNAL_ERROR, debug data: "bye"$/,
    );
  });
});
