import { forbid } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const deny = (attributes: AdmissionAttributes): never => {
  throw forbid(attributes, 'admission control is denying all modifications');
};

/** Refuses every write. */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', handles: () => true, admit: deny, validate: deny };
