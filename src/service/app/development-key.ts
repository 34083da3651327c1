import { randomSeed } from '../../platform/random.ts';
import { readFile, writeFile, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../domain/errors.ts';
import { isKey } from './authentication.ts';
import { withFileOf } from './start-failure.ts';

const fileName = 'development-key';

/**
 * The development key of a data folder: made at the first start, the same at each later one. Only
 * the user who made it can read its file. @throws StartError when the file can't be used.
 */
export async function developmentKey(dataDir: string): Promise<string> {
  const file = join(dataDir, fileName);
  return withFileOf(file, async () => (await keptKey(file)) ?? (await makeKey(file)));
}

async function makeKey(file: string): Promise<string> {
  const key = `sk_dev_${randomSeed()}${randomSeed()}${randomSeed()}`;
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'w' });
  // The mode of a file that was there before stays what it was.
  await chmod(file, 0o600);
  return key;
}

async function keptKey(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '' || isKey(text)) return text || undefined;
  throw new StartError(`${file} holds no key that can be sent; delete it, and a new one is made`);
}
