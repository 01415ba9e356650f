export interface NamedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

/** One device, or one share of it, as a text: `driver/pool/device`. */
export const deviceId = ({ driver, pool, device, shareID }: NamedDevice): string =>
  [driver, pool, device, ...(shareID === undefined ? [] : [shareID])].join('/');
