import { randomSeed } from '../shared/chance.ts';
import { readFile, writeFile, chmod } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'development-key';

/**
 * The development key of a data folder: made at the first start, the same at each later one. Only
 * the user who made it can read its file.
 */
export async function developmentKey(dataDir: string): Promise<string> {
  const kept = await keptKey(dataDir);
  if (kept !== undefined) return kept;
  const file = join(dataDir, fileName);
  const key = `sk_dev_${randomSeed()}${randomSeed()}${randomSeed()}`;
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'w' });
  // The mode of a file that was there before stays what it was.
  await chmod(file, 0o600);
  return key;
}

async function keptKey(dataDir: string): Promise<string | undefined> {
  try {
    const text = (await readFile(join(dataDir, fileName), 'utf8')).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
