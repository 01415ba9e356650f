/** The disk, the user's share of it, or the longest allowed file has no more room: an error of the system, or its cause. */
export function isFullDisk(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return FULL_DISK_CODES.includes(code ?? '') || (cause instanceof Error && isFullDisk(cause));
}

const FULL_DISK_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG'];
