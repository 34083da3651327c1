/** Describes the bundled libraries: their licenses must be part of every copy. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A library whose code the build has put into `dist/bundle/`. */
interface BundledLibrary {
  name: string;
  version: string;
  /** SPDX expression; undefined if only the text states the license. */
  license?: string;
  author?: string;
  /** The text of its license file. */
  text?: string;
  /** Paths of our patches, relative to the repository. */
  patches: string[];
}

/**
 * Returns the packages that contain these files, sorted by path.
 *
 * @throws if a package has no license.
 */
export function findLibraries(root: string, files: Iterable<string>): BundledLibrary[] {
  const directories = new Set(
    [...files].flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  return [...directories].sort().map((directory) => readLibrary(root, join(root, directory)));
}

function readLibrary(root: string, directory: string): BundledLibrary {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license?: string; author?: string | { name: string } };
  const file = readdirSync(directory).find((each) => /^(licen[cs]e|copying)/i.test(each));
  if (license === undefined && file === undefined) {
    throw new Error(`${name} has no license. Remove it from packaging/bundled-packages.ts.`);
  }
  const holder = typeof author === 'string' ? author : author?.name;
  return {
    name,
    version,
    ...(license !== undefined && { license }),
    ...(holder !== undefined && { author: holder }),
    ...(file !== undefined && { text: readFileSync(join(directory, file), 'utf8').trim() }),
    patches: globSync(`packaging/patches/${name}/*.patch`, { cwd: root }).sort(),
  };
}

/** Returns a page with the licenses of these libraries. */
export function formatLicenses(libraries: readonly BundledLibrary[]): string {
  return [
    '# Licenses of bundled libraries',
    'The files in this directory contain these packages.',
    ...libraries.map(formatLibrary),
    '',
  ].join('\n\n');
}

function formatLibrary({ name, version, license, author, text, patches }: BundledLibrary): string {
  const stated = `${license ?? 'See below'}${author === undefined ? '' : `. Author: ${author}`}`;
  const changes = patches.map((path) => `\`${basename(path, '.patch')}\``).join(', ');
  return [
    `## ${name} ${version}`,
    stated,
    ...(patches.length === 0 ? [] : [`Changed by the patches ${changes}.`]),
    ...(text === undefined ? [] : [fence(text)]),
  ].join('\n\n');
}

const fence = (text: string): string => `~~~text\n${text.replaceAll(/[ \t]+$/gm, '')}\n~~~`;

/** Returns the bill of materials of the bundled code, in the format CycloneDX. */
export function formatBillOfMaterials(
  kit: { name: string; version: string },
  libraries: readonly BundledLibrary[],
): string {
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: kit.name, version: kit.version } },
    components: libraries.map(toComponent),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toComponent({ name, version, license, author, patches }: BundledLibrary): object {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    ...(author !== undefined && { author }),
    name,
    version,
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    purl,
    ...(patches.length > 0 && {
      pedigree: {
        patches: patches.map((path) => ({ type: 'unofficial', diff: { url: path } })),
      },
    }),
  };
}
