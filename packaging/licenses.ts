/** Collects the licenses of the bundled packages, which must be part of every copy. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns a page with the licenses of the packages that contain these files.
 *
 * @throws if a package has no license.
 */
export function collectLicenses(root: string, files: Iterable<string>): string {
  const directories = new Set(
    [...files].flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const sections = [...directories].sort().map((directory) => describe(join(root, directory)));
  return [
    '# Licenses of bundled libraries',
    'The files in this directory contain these packages.',
    ...sections,
    '',
  ].join('\n\n');
}

function describe(directory: string): string {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license?: string; author?: string | { name: string } };
  const file = readdirSync(directory).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file === undefined ? undefined : readFileSync(join(directory, file), 'utf8').trim();
  if (license === undefined && text === undefined) {
    throw new Error(`${name} has no license. Remove it from packaging/bundled-packages.ts.`);
  }
  const holder = typeof author === 'string' ? author : author?.name;
  const stated = `${license ?? 'See below'}${holder === undefined ? '' : `. Author: ${holder}`}`;
  return [`## ${name} ${version}`, stated, ...(text === undefined ? [] : [fence(text)])].join(
    '\n\n',
  );
}

const fence = (text: string): string => `~~~text\n${text.replaceAll(/[ \t]+$/gm, '')}\n~~~`;
