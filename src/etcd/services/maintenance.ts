// etcd's Maintenance service.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import {
  ALARM_ACTION,
  ALARM_REQUEST,
  ALARM_RESPONSE,
  ALARM_TYPE,
  HASH_KV_REQUEST,
  HASH_KV_RESPONSE,
  HASH_RESPONSE,
  HEADER_ONLY,
  SNAPSHOT_RESPONSE,
  STATUS_RESPONSE,
} from '../../kv/etcd/messages/maintenance.js';
import { etcdFault, storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import { type HeaderOf, type Identity, RAFT_TERM } from '../header.js';
import type { SpaceAlarm } from '../space-alarm.js';
import { hashOf } from '../store-hash.js';
import { snapshotOf } from '../snapshot.js';

/** The version of etcd whose API this is. */
export const ETCD_VERSION = '3.5.16';

export interface MaintenanceParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  readonly identity: Identity;
  readonly alarm: SpaceAlarm;
  /** Where a snapshot lies while it is sent. */
  readonly scratchFolder: string;
}

export function maintenanceService(parts: MaintenanceParts): GrpcService {
  const { store, header, identity, alarm: spaceAlarm, scratchFolder } = parts;
  const { mvcc } = store;
  const hash = async (revision: number): Promise<number> => storeCall(hashOf(mvcc, revision));
  const alarmAnswer = (isRaised: boolean): Buffer =>
    ALARM_RESPONSE.encode({
      header: header(mvcc.revision),
      alarms: isRaised ? [{ memberId: identity.memberId, alarm: ALARM_TYPE.noSpace }] : [],
    });
  return {
    unary: {
      Status() {
        const { revision } = mvcc;
        const { bytes, usedBytes } = mvcc.size();
        return STATUS_RESPONSE.encode({
          header: header(revision),
          version: ETCD_VERSION,
          dbSize: bytes,
          dbSizeInUse: usedBytes,
          leader: identity.memberId,
          raftIndex: revision,
          raftAppliedIndex: revision,
          raftTerm: RAFT_TERM,
          errors: spaceAlarm.isRaised ? [`memberID:${identity.memberId} alarm:NOSPACE `] : [],
        });
      },
      Alarm(message) {
        const { action, alarm } = ALARM_REQUEST.decode(message);
        const isOurs = alarm === ALARM_TYPE.noSpace || alarm === ALARM_TYPE.none;
        const wasRaised = spaceAlarm.isRaised;
        if (action === ALARM_ACTION.get) return alarmAnswer(isOurs && wasRaised);
        if (alarm !== ALARM_TYPE.noSpace) return alarmAnswer(false);
        if (action === ALARM_ACTION.activate) spaceAlarm.raise();
        else spaceAlarm.disarm();
        return alarmAnswer(action === ALARM_ACTION.activate || wasRaised);
      },
      async Defragment() {
        await storeCall(mvcc.defragment());
        return HEADER_ONLY.encode({ header: header(mvcc.revision) });
      },
      async Hash() {
        return HASH_RESPONSE.encode({ header: header(mvcc.revision), hash: await hash(0) });
      },
      async HashKV(message) {
        const { revision } = HASH_KV_REQUEST.decode(message);
        const found = await hash(Math.max(0, revision));
        return HASH_KV_RESPONSE.encode({
          header: header(mvcc.revision),
          hash: found,
          compactRevision: mvcc.compacted === 0 ? -1 : mvcc.compacted,
        });
      },
      MoveLeader() {
        throw etcdFault('badLeaderTransferee');
      },
      Downgrade() {
        throw etcdFault('notCapable');
      },
    },
    streams: {
      async Snapshot(call) {
        for await (const { blob, remainingBytes } of snapshotOf(store, scratchFolder, call.signal)) {
          const message = SNAPSHOT_RESPONSE.encode({ header: header(mvcc.revision), remainingBytes, blob });
          if (!call.send([message])) await call.drained();
          if (call.signal.aborted) return;
        }
      },
    },
  };
}
