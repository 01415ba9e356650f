// The ways out of the server, by what lies there. Nothing in the server connects to anything but through one of these.
import { type Dialer, directDialer } from '../outbound/dialer.js';

export interface Dialers {
  /** Nodes, pods, services, and what runs in the cluster: webhooks, extension servers. */
  readonly cluster: Dialer;
  /** What runs beside the server: other parts of the control plane, webhooks of authentication and authorization. */
  readonly controlplane: Dialer;
  readonly etcd: Dialer;
}

export const directDialers: Dialers = { cluster: directDialer, controlplane: directDialer, etcd: directDialer };
