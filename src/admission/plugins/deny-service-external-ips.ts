import type { Service } from '../../schema/generated/core.v1.js';
import { forbid, isFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

/** External addresses let a user take over traffic meant for others: those in use may stay, no new ones come. */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    if (!isFor(attributes, '', 'services')) return;
    const before = (attributes.old as Service | undefined)?.spec?.externalIPs ?? [];
    const wanted = (attributes.object as Service).spec?.externalIPs ?? [];
    if (wanted.every((address) => before.includes(address))) return;
    throw forbid(attributes, 'Use of external IPs is denied by admission control');
  },
};
