import { kvContract } from './kv.contract.js';
import { openMemoryStore } from './memory.js';

kvContract('memory store', { open: async () => openMemoryStore(), close: (kv) => kv.close() });
