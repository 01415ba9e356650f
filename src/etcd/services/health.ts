// gRPC's own health service (grpc.health.v1).
import type { Clock } from '../../lib/async/clock.js';
import { HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE } from '../../kv/etcd/messages/maintenance.js';
import { GrpcFault, STATUS } from '../grpc/fault.js';
import type { GrpcService } from '../grpc/server.js';

const SERVING = { yes: 1, no: 2, unknownService: 3 } as const;
const WATCH_PERIOD_MS = 1_000;

/** `isHealthy` is about the whole server, which has the empty name. */
export function healthService(isHealthy: () => Promise<boolean>, clock: Clock): GrpcService {
  const statusNow = async (service: string): Promise<number> =>
    service !== '' ? SERVING.unknownService : (await isHealthy()) ? SERVING.yes : SERVING.no;
  return {
    unary: {
      async Check(message) {
        const { service } = HEALTH_CHECK_REQUEST.decode(message);
        const status = await statusNow(service);
        if (status === SERVING.unknownService) throw new GrpcFault(STATUS.notFound, 'unknown service');
        return HEALTH_CHECK_RESPONSE.encode({ status });
      },
    },
    streams: {
      async Watch(call) {
        let service: string | undefined;
        for await (const message of call.messages) {
          service = HEALTH_CHECK_REQUEST.decode(message).service;
          break;
        }
        for (let last = 0; service !== undefined && !call.signal.aborted;) {
          const status = await statusNow(service);
          if (status !== last) call.send([HEALTH_CHECK_RESPONSE.encode({ status })]);
          last = status;
          await new Promise<void>((resolve) => clock.after(WATCH_PERIOD_MS, resolve));
        }
      },
    },
  };
}
