/** A production install stays small, and resolves next to the packages that users have. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createEmptyProject, createProject, packKit } from './tarball.ts';

/** Limits of `npm install sandbox-kit` in an empty folder. */
const MEGABYTES_MAX = 90;
const PACKAGES_MAX = 110;

/** A package as `npm ls --json` lists it. */
interface Listed {
  dependencies?: Record<string, Listed>;
}

void t.test(
  `an install takes at most ${MEGABYTES_MAX} MB and ${PACKAGES_MAX} packages`,
  async (t) => {
    const project = await createProject(t);
    const bytes = measureFiles(join(project.directory, 'node_modules'));
    const megabytes = Math.round(bytes / 1e5) / 10;
    t.ok(megabytes <= MEGABYTES_MAX, `${megabytes} MB`);

    const { stdout } = await project.run('npm', ['ls', '--all', '--json']);
    const names = listPackages(JSON.parse(stdout) as Listed);
    t.ok(names.size <= PACKAGES_MAX, `${names.size} packages`);
    // `npm audit` covers these.
    for (const name of ['fastify', 'ws', 'pg', 'protobufjs', 'yaml']) t.ok(names.has(name), name);
  },
);

/** The packages of both major versions of the OpenTelemetry SDK that users have. */
const openTelemetry = {
  current: [
    '@opentelemetry/api',
    '@opentelemetry/exporter-trace-otlp-proto',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ],
  2: [
    '@opentelemetry/api@1.9',
    '@opentelemetry/exporter-trace-otlp-proto@0.223',
    '@opentelemetry/resources@2',
    '@opentelemetry/sdk-trace-base@2',
  ],
};

for (const [version, packages] of Object.entries(openTelemetry)) {
  void t.test(`the kit resolves next to OpenTelemetry (${version}) and Node`, async (t) => {
    const project = createEmptyProject(t);
    const { code, stderr } = await project.run('npm', [
      ...['install', '--package-lock-only', '--no-audit', packKit()],
      ...packages,
      ...['typescript', 'node'],
    ]);
    t.equal(code, 0, 'npm install finds versions that fit', { stderr });
  });
}

/**
 * Returns the size of all files in a directory in bytes, as npm reports the size of a package. The
 * space on a disk depends on its blocks.
 */
function measureFiles(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(directory, path)))
    .reduce((sum, status) => sum + (status.isFile() ? status.size : 0), 0);
}

function listPackages(tree: Listed): Set<string> {
  const names = new Set<string>();
  const visit = ({ dependencies = {} }: Listed): void => {
    for (const [name, each] of Object.entries(dependencies)) {
      names.add(name);
      visit(each);
    }
  };
  visit(tree);
  return names;
}
