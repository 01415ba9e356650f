import type { AdmissionPlugin } from '../plugin.js';

/** Has nothing against anything. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', handles: () => true };
