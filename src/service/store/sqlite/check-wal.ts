/**
 * Checks whether SQLite can read everything that a crash left in the WAL. SQLite reads the WAL up to
 * the first frame with a wrong checksum and silently ignores the rest: after a crash, the last
 * transaction may be incomplete. Damage in the middle would therefore lose acknowledged spans
 * without an error. Formats: https://sqlite.org/fileformat2.html and https://sqlite.org/walformat.html
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

/** Size of a WAL without frames. */
export const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const WAL_MAGICS: readonly number[] = [0x377f0682, 0x377f0683];

/** A larger WAL is not checked. SQLite merges it at 32 MiB unless a reader prevents that. */
const WAL_BYTES_MAX = 2 ** 30;

/** A running process changes its WAL while it is read, so that only repeated damage counts. */
const ATTEMPTS = 3;

/** Returns whether committed transactions in the WAL of a database file can't be read. */
export function isWalDamaged(file: string): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (!hasDamage(file)) return false;
  }
  return true;
}

function hasDamage(file: string): boolean {
  // In this order: a running process writes the WAL before its index.
  const index = readIndex(`${file}-shm`);
  const walFile = `${file}-wal`;
  const walBytes = statSync(walFile, { throwIfNoEntry: false })?.size ?? 0;
  if (walBytes > WAL_BYTES_MAX) return false;
  const wal = walBytes === 0 ? Buffer.alloc(0) : readFileSync(walFile);
  const isMerged = index !== undefined && index.frames <= index.mergedFrames;
  if (wal.length <= WAL_HEADER_BYTES) return index !== undefined && !isMerged;
  const pageBytes = readPageBytes(file);
  if (pageBytes === undefined) return false;
  const isHeaderValid = checkHeader(wal);
  const salts = wal.subarray(16, 24);
  const isIndexed = index?.salts.equals(salts) === true;
  if (isIndexed && isMerged) return false;
  const { readable, laterCommits, framesAfterLaterCommit } = walkFrames(wal, {
    pageBytes,
    // The first frame repeats the salts of the header.
    salts: isHeaderValid ? salts : wal.subarray(40, 48),
  });
  if (!isHeaderValid) return laterCommits > 0 || readable > 1 || isIndexed;
  if (isIndexed && index.frames > readable) return true;
  // All that was committed is readable. What follows are transactions that failed, for example because
  // the disk could not sync, and over whose beginning later ones were written.
  if (isIndexed && index.frames === readable) return false;
  // Each commit is durable before the next transaction begins.
  return laterCommits > 0 && framesAfterLaterCommit > 0;
}

interface WalIndex {
  /** Number of frames up to the last commit. */
  frames: number;
  /** Number of frames that are already in the database file. */
  mergedFrames: number;
  /** The salts of the WAL that it describes. */
  salts: Buffer;
}

const INDEX_HEADER_BYTES = 48;

/** Reads the index of the WAL. Its numbers are in the byte order of the machine. */
function readIndex(file: string): WalIndex | undefined {
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  if (bytes.length < 2 * INDEX_HEADER_BYTES + 4) return undefined;
  const header = bytes.subarray(0, INDEX_HEADER_BYTES);
  // A writer updates both copies one after the other.
  const isComplete = header.equals(bytes.subarray(INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES));
  const isInitialized = header[12] === 1;
  if (!isComplete || !isInitialized) return undefined;
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    frames: numbers.getUint32(16, IS_LITTLE_ENDIAN),
    mergedFrames: numbers.getUint32(2 * INDEX_HEADER_BYTES, IS_LITTLE_ENDIAN),
    salts: Buffer.from(header.subarray(32, 40)),
  };
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Reads the page size of a database file; undefined if it has no header. */
function readPageBytes(file: string): number | undefined {
  const bytes = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  const length = readSync(handle, bytes);
  closeSync(handle);
  if (length < bytes.length) return undefined;
  const size = bytes.readUInt16BE(16);
  return size === 1 ? 65_536 : size;
}

/** Two sums of 32 bits, as SQLite computes them. */
type Checksum = readonly [number, number];

function addToChecksum(
  [first, second]: Checksum,
  bytes: Buffer,
  isLittleEndian: boolean,
): Checksum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}

const readChecksum = (bytes: Buffer, at: number): Checksum => [
  bytes.readUInt32BE(at),
  bytes.readUInt32BE(at + 4),
];

const isSame = (a: Checksum, b: Checksum): boolean => a[0] === b[0] && a[1] === b[1];

/** The lowest bit of the magic number shows the byte order of the checksums. */
const hasLittleEndianChecksums = (wal: Buffer): boolean => wal.readUInt32BE(0) % 2 === 0;

function checkHeader(wal: Buffer): boolean {
  if (!WAL_MAGICS.includes(wal.readUInt32BE(0))) return false;
  const sum = addToChecksum([0, 0], wal.subarray(0, 24), hasLittleEndianChecksums(wal));
  return isSame(sum, readChecksum(wal, 24));
}

interface Frames {
  /** Number of frames that SQLite reads, up to the first damaged one. */
  readable: number;
  /** Commits of intact frames after the first damaged one. */
  laterCommits: number;
  /** Intact frames after the first of these commits. */
  framesAfterLaterCommit: number;
}

/**
 * Walks all frames of the current generation; older ones have other salts. A checksum continues that
 * of the frame before, so a frame after a damaged one is checked with the checksum stored there.
 */
function walkFrames(
  wal: Buffer,
  { pageBytes, salts }: { pageBytes: number; salts: Buffer },
): Frames {
  const frames: Frames = { readable: 0, laterCommits: 0, framesAfterLaterCommit: 0 };
  const isLittleEndian = hasLittleEndianChecksums(wal);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let before = readChecksum(wal, 24);
  let isDamaged = false;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const page = wal.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    const headSum = addToChecksum(before, wal.subarray(at, at + 8), isLittleEndian);
    const stored = readChecksum(wal, at + 16);
    const isIntact =
      wal.subarray(at + 8, at + 16).equals(salts) &&
      isSame(addToChecksum(headSum, page, isLittleEndian), stored);
    before = stored;
    if (!isIntact) isDamaged = true;
    else if (!isDamaged) frames.readable += 1;
    else {
      if (frames.laterCommits > 0) frames.framesAfterLaterCommit += 1;
      if (wal.readUInt32BE(at + 4) > 0) frames.laterCommits += 1;
    }
  }
  return frames;
}
