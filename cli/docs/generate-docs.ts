/**
 * `npm run docs`: writes docs/cli.md, docs/requirements.md, the schema of the configuration file, and
 * the counts and lists in hand-written pages, such as docs/interface.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import * as conformance from '../../conformance/index.ts';
import { createConfigSchema } from '../config/config-schema.ts';
import { loadCommands } from '../commands/index.ts';
import { writeControlApiList, writeInterface } from './documented-lists.ts';
import { findCounts, writeCounts } from './documented-counts.ts';
import { formatCommandReference, formatRequirementReference } from './reference.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Returns the generated files, and the pages with counts, by their path from the root of the repository. */
export async function generateDocs(): Promise<Record<string, string>> {
  const commands = await loadCommands();
  const interfacePage = 'docs/interface.md';
  const pages = {
    'docs/cli.md': formatCommandReference(commands),
    'docs/requirements.md': formatRequirementReference(conformance),
    [interfacePage]: writeInterface(readFileSync(join(ROOT, interfacePage), 'utf8')),
    'schemas/sandbox-kit.config.json': JSON.stringify(createConfigSchema(commands)),
  };
  const config = await resolveConfig(join(ROOT, 'docs/cli.md'));
  const formatted = Object.entries(pages).map(async ([path, text]) => {
    const parser = path.endsWith('.md') ? 'markdown' : 'json';
    const proseWrap = path === interfacePage ? 'always' : 'preserve';
    return [path, await format(text, { ...config, parser, proseWrap })] as const;
  });
  const counted = Object.entries(await findCounts(conformance)).map(([path, phrases]) => {
    return [path, writeCounts(path, readFileSync(join(ROOT, path), 'utf8'), phrases)] as const;
  });
  const generated = Object.fromEntries([...(await Promise.all(formatted)), ...counted]);
  const checkPage = 'docs/check.md';
  return {
    ...generated,
    [checkPage]: writeControlApiList(generated[checkPage] ?? '', conformance),
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await generateDocs())) {
    writeFileSync(join(ROOT, path), text);
  }
}
