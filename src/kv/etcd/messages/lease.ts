// Messages of etcd's Lease service.
import { big, bytesList, flag, int, many, message, one, text } from '../../../lib/protobuf/message.js';
import { RESPONSE_HEADER } from './kv.js';

export const LEASE_GRANT_REQUEST = message({ ttl: int(1), id: big(2) });
export const LEASE_GRANT_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  id: big(2),
  ttl: int(3),
  error: text(4),
});
export const LEASE_ID = message({ id: big(1) });
export const LEASE_KEEP_ALIVE_RESPONSE = message({ header: one(1, RESPONSE_HEADER), id: big(2), ttl: int(3) });
export const LEASE_TIME_TO_LIVE_REQUEST = message({ id: big(1), keys: flag(2) });
export const LEASE_TIME_TO_LIVE_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  id: big(2),
  ttl: int(3),
  grantedTtl: int(4),
  keys: bytesList(5),
});
export const LEASES_RESPONSE = message({ header: one(1, RESPONSE_HEADER), leases: many(2, LEASE_ID) });
