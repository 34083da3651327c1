/**
 * `npm run requirements`: adds new requirements to the set of the next release, and freezes the
 * sets that are released. With `--check`, it writes nothing, and exits 1 if it finds a problem.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import kit from '../package.json' with { type: 'json' };
import { requirements } from './areas/index.ts';
import { compareReleases, type Release, type Releases } from './requirement-sets.ts';

/** The current requirements and their levels. */
export type Levels = Readonly<Record<string, string>>;

/** The result of breaking a requirement of each level: 0 is a note, 1 a warning, 2 a failure. */
const strictness: Readonly<Record<string, number>> = {
  may: 0,
  should: 1,
  target: 1,
  must: 2,
  extension: 2,
};

const isStricter = (now: string, before: string): boolean =>
  (strictness[now] ?? 0) > (strictness[before] ?? 0);

const nameOf = (version: string): string => version.split('.').slice(0, 2).join('.');

const isReleased = (name: string, version: string): boolean =>
  compareReleases(name, nameOf(version)) <= 0;

/** Returns the digest of the requirements of a release. */
export function digestOf({ requirements: rows }: Pick<Release, 'requirements'>): string {
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

/**
 * Returns the problems of the requirement sets, one sentence each: a requirement without a set, a
 * released set that changed, or a requirement of a released set that is missing or became stricter.
 */
export function findProblems(releases: Releases, levels: Levels, version: string): string[] {
  const listed = Object.entries(releases).flatMap(([name, { requirements: rows }]) =>
    Object.entries(rows).map(([id, level]) => ({ name, id, level })),
  );
  const names = new Map(listed.map(({ name, id }) => [id, name]));
  return [
    ...Object.keys(levels)
      .filter((id) => !names.has(id))
      .map((id) => `${id} is in no requirement set. Run npm run requirements.`),
    ...listed
      .filter(({ id, name }) => names.get(id) !== name)
      .map(({ id, name }) => `${id} is in two requirement sets: ${name} and ${names.get(id)}.`),
    ...Object.entries(releases).flatMap(([name, release]) =>
      findReleaseProblems(name, release, { levels, version }),
    ),
  ];
}

function findReleaseProblems(
  name: string,
  release: Release,
  { levels, version }: { levels: Levels; version: string },
): string[] {
  const { digest, requirements: rows } = release;
  if (digest === null) {
    const isCurrent = Object.entries(rows).every(([id, level]) => levels[id] === level);
    return [
      ...(isReleased(name, version)
        ? [`Set ${name} is released, but not frozen. Run npm run requirements.`]
        : []),
      ...(isCurrent ? [] : [`Set ${name} is out of date. Run npm run requirements.`]),
    ];
  }
  const changes = Object.entries(rows).flatMap(([id, level]) => {
    const now = levels[id];
    if (now === undefined)
      return [`${id} of the frozen set ${name} does not exist. Restore it with the level may.`];
    return isStricter(now, level)
      ? [
          `${id} of the frozen set ${name} became stricter (${level} to ${now}). Add a new id instead.`,
        ]
      : [];
  });
  return digest === digestOf(release)
    ? changes
    : [
        `The frozen set ${name} changed. Restore it, and add requirements to a later set.`,
        ...changes,
      ];
}

/** Returns the sets after updating the one that is not released. */
export function updateReleases(releases: Releases, levels: Levels, version: string): Releases {
  const frozenIds = new Set(
    Object.values(releases)
      .filter(({ digest }) => digest !== null)
      .flatMap((release) => Object.keys(release.requirements)),
  );
  const rows = Object.fromEntries(Object.entries(levels).filter(([id]) => !frozenIds.has(id)));
  const frozen = Object.entries(releases).filter(([, { digest }]) => digest !== null);
  if (Object.keys(rows).length === 0) return Object.fromEntries(frozen);
  const open = Object.entries(releases).find(([, { digest }]) => digest === null)?.[0];
  const name =
    open ??
    nextRelease(
      frozen.map(([each]) => each),
      version,
    );
  const digest = isReleased(name, version) ? digestOf({ requirements: rows }) : null;
  return Object.fromEntries([...frozen, [name, { digest, requirements: rows }]]);
}

/** Returns the minor release after the version and all frozen sets. */
function nextRelease(frozen: readonly string[], version: string): string {
  const newest = [...frozen, nameOf(version)].sort(compareReleases).at(-1) ?? '0.0';
  const [major = 0, minor = 0] = newest.split('.').map(Number);
  return `${major}.${minor + 1}`;
}

/** The current levels, as `findProblems` compares them. */
export const currentLevels: Levels = Object.fromEntries(
  Object.entries(requirements).map(([id, { level }]) => [id, level]),
);

if (import.meta.main) {
  const path = new URL('requirement-sets.json', import.meta.url);
  const releases = JSON.parse(readFileSync(path, 'utf8')) as Releases;
  const updated = updateReleases(releases, currentLevels, kit.version);
  if (!process.argv.includes('--check'))
    writeFileSync(path, `${JSON.stringify(updated, null, 2)}\n`);
  const checked = process.argv.includes('--check') ? releases : updated;
  for (const problem of findProblems(checked, currentLevels, kit.version)) {
    console.error(problem);
    process.exitCode = 1;
  }
}
