/** `npm run docs`: writes docs/cli.md and docs/requirements.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import * as conformance from '../../conformance/index.ts';
import { commands } from './commands/index.ts';
import { formatCommandReference, formatRequirementReference } from './reference.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Returns the reference pages by their path from the root of the repository. */
export async function generateDocs(): Promise<Record<string, string>> {
  const pages = {
    'docs/cli.md': formatCommandReference(commands),
    'docs/requirements.md': formatRequirementReference(conformance),
  };
  const config = await resolveConfig(join(ROOT, 'docs/cli.md'));
  const formatted = Object.entries(pages).map(
    async ([path, text]) => [path, await format(text, { ...config, parser: 'markdown' })] as const,
  );
  return Object.fromEntries(await Promise.all(formatted));
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await generateDocs())) {
    writeFileSync(join(ROOT, path), text);
  }
}
