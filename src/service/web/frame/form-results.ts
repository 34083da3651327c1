import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Clock } from '../../../platform/clock.ts';
import { randomHex } from '../../../platform/random.ts';
import type { Store } from '../../store/store.ts';
import type { Viewer } from './viewer.ts';

/** The query parameter with the id of a page that a form led to. */
export const RESULT_PARAMETER = 'shown';

/** How long a page is kept. */
const RESULT_MS = 1_800_000;
/** How much is kept for an owner: pages hold what was sent, which can be large. */
const LIMITS = { countMax: 200, bytesMax: 50_000_000 };

/** A page that a form led to, with its status. */
export interface FormResult {
  status: number;
  page: string;
}

/**
 * Keeps the pages that forms led to for half an hour, so that the browser requests them by GET: going
 * back or reloading then sends no form again.
 */
export interface FormResults {
  /** Keeps a page for its reader, and returns its id. */
  keep: (reader: Viewer, result: FormResult) => Promise<string>;
  /** Returns a page that was kept for this reader, if it is still known. */
  find: (reader: Viewer, id: string) => Promise<FormResult | undefined>;
}

/**
 * Keeps the newest results in the store, where every replica finds them. A page may show a new API key,
 * so it is encrypted with a key that only its address and the session of its reader give.
 */
export function createFormResults({
  store: { formResults },
  clock,
}: {
  store: Pick<Store, 'formResults'>;
  clock: Clock;
}): FormResults {
  return {
    async keep(reader, result) {
      const id = randomHex(16);
      const { storedId, ...keys } = deriveKeys(reader, id);
      const content = await encrypt(keys, result);
      const stored = { id: storedId, content, expiresAtMs: clock.nowMs() + RESULT_MS };
      await formResults.add(reader.ownerId, stored, LIMITS);
      return id;
    },
    async find(reader, id) {
      const { storedId, ...keys } = deriveKeys(reader, id);
      const content = await formResults.find(reader.ownerId, storedId, clock.nowMs());
      return content && decrypt(keys, content);
    },
  };
}

const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;

/** What encrypts one page. */
interface PageKeys {
  key: Buffer;
  /** Used once, because the id of each page is random. */
  nonce: Buffer;
}

/** A session has its own token, so another session finds nothing, and could not read it. */
function deriveKeys({ context }: Viewer, id: string): PageKeys & { storedId: string } {
  const derived = Buffer.from(hkdfSync('sha256', id, context.token ?? '', 'form result', 76));
  return {
    storedId: derived.toString('hex', 0, 32),
    key: derived.subarray(32, 64),
    nonce: derived.subarray(64),
  };
}

async function encrypt({ key, nonce }: PageKeys, result: FormResult): Promise<Buffer> {
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  const content = cipher.update(await promisify(gzip)(JSON.stringify(result)));
  return Buffer.concat([content, cipher.final(), cipher.getAuthTag()]);
}

async function decrypt({ key, nonce }: PageKeys, stored: Buffer): Promise<FormResult> {
  const decipher = createDecipheriv(ALGORITHM, key, nonce);
  decipher.setAuthTag(stored.subarray(-TAG_BYTES));
  const content = decipher.update(stored.subarray(0, -TAG_BYTES));
  const text = await promisify(gunzip)(Buffer.concat([content, decipher.final()]));
  return JSON.parse(text.toString()) as FormResult;
}
