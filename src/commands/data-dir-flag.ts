// The flag by which commands say whose server they mean; the server's own, so that its help is written once.
import { binnacle } from '../options/flags/binnacle.js';

export const DATA_DIR_FLAG = binnacle.flags['data-dir'];
