export interface NamedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

/** One device, or one share of it, as a text. */
export const deviceId = ({ driver, pool, device, shareID = '' }: NamedDevice): string =>
  JSON.stringify([driver, pool, device, shareID]);

/** What errors show of any device: kube-apiserver formats a value of its own whose texts are not exported. */
export const SHOWN_DEVICE_ID = { Driver: {}, Pool: {}, Device: {}, ShareID: {} };
