/** Unusable files in the data directory: one sentence with the file and what to do, exit code 2. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openFile } from '../../src/service/store/sqlite/open-file.ts';
import { run, unwrap } from '../support/commands/command.ts';

/** The problem with a data directory, how to set it up, and the expected message. */
const rows: [problem: string, setUp: (folder: string) => void, message: RegExp][] = [
  [
    'a database file that is not a database',
    (folder) => writeFileSync(join(folder, 'service.db'), 'This is no database. '.repeat(500)),
    /service\.db is damaged or not a database \(SQLITE_(NOTADB|CORRUPT)\)\. Move it away to create a new one\./,
  ],
  [
    'a damaged database',
    (folder) => {
      const file = join(folder, 'service.db');
      openFile(file, { busyMs: 0 }).close();
      const bytes = readFileSync(file);
      // Keeps the header, which identifies a database of the kit.
      writeFileSync(file, bytes.fill(0x5a, 100));
    },
    /service\.db is damaged or not a database \(SQLITE_(NOTADB|CORRUPT)\)\. Move it away to create a new one\./,
  ],
  [
    'a database of another program',
    (folder) => {
      const db = openFile(join(folder, 'service.db'), { busyMs: 0 });
      db.pragma('application_id = 1');
      db.close();
    },
    /service\.db belongs to another program\. Choose another directory\./,
  ],
  [
    'a directory instead of the database',
    (folder) => mkdirSync(join(folder, 'service.db')),
    /service\.db is a directory \(\w+\)\. Move it away to create a file in its place\./,
  ],
  [
    'a directory instead of the key',
    (folder) => mkdirSync(join(folder, 'development-key')),
    /development-key is a directory \(\w+\)\. Move it away to create a file in its place\./,
  ],
  [
    'an invalid key',
    (folder) => writeFileSync(join(folder, 'development-key'), 'two words\nand lines\n'),
    /development-key contains no valid API key\. Delete it to create a new one\./,
  ],
];

void t.test('serve and exec name the unusable file and what to do', async (t) => {
  for (const [problem, setUp, message] of rows) {
    for (const command of ['serve', 'exec']) {
      const folder = mkdtempSync(join(t.testdir({}), 'data-'));
      setUp(folder);
      const rest = command === 'serve' ? ['--port', '0'] : ['--', process.execPath, '-e', '0'];
      const { code, stdout, stderr } = await run([command, '--data', folder, ...rest]);
      t.same([code, stdout], [2, ''], `${command}: ${problem}`);
      const text = unwrap(stderr);
      t.match(
        text,
        /^sandbox-kit: Can't start the service: [^\n]+[.]\n$/,
        `${command}: ${problem}`,
      );
      t.match(text, message, `${command}: ${problem}`);
    }
  }
});

const readOnly = mkdtempSync(join(tmpdir(), 'kit-read-only-'));
const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k', 'tmpfs', readOnly]);
const isMounted = mount.status === 0;
t.teardown(() => {
  if (isMounted) spawnSync('umount', ['--lazy', readOnly]);
  rmdirSync(readOnly);
});

const skip = !isMounted && 'this user cannot mount a file system';

void t.test('a read-only data directory is rejected', { skip }, async (t) => {
  for (const data of [readOnly, join(readOnly, 'new')]) {
    const { code, stderr } = await run(['serve', '--port', '0', '--data', data]);
    t.equal(code, 2);
    t.match(
      unwrap(stderr),
      /^sandbox-kit: Can't start the service: .*kit-read-only.*read-only.*[.]\n$/,
    );
  }
});

/** Returns a directory where this user can't create another; undefined if no candidate is one. */
function findUnwritable(): string | undefined {
  const folder = t.testdir({});
  chmodSync(folder, 0o555);
  // The superuser may write everywhere, except where the kernel refuses it.
  return [folder, '/sys'].find((parent) => {
    try {
      mkdirSync(join(parent, 'kit-new'));
      rmdirSync(join(parent, 'kit-new'));
      return false;
    } catch (error) {
      return /^(EACCES|EPERM)$/.test(String((error as NodeJS.ErrnoException).code));
    }
  });
}

const parent = findUnwritable();
const whyNone = parent === undefined && 'this user can write everywhere';

void t.test('a data directory whose parent is not writable', { skip: whyNone }, async (t) => {
  const data = join(parent ?? '', 'new', 'data');
  const { code, stderr } = await run(['serve', '--port', '0', '--data', data]);
  t.equal(code, 2);
  t.match(
    unwrap(stderr),
    new RegExp(
      `The data directory ${data} can't be created, because ${parent} is not writable \\(E\\w+\\)\\. ` +
        'Change its permissions, or choose another data directory\\.\\n$',
    ),
  );
});
