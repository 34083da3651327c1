/** Files that the service can't work with: one sentence with the file and the cure, exit code 2. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openFile } from '../../src/service/store/open-file.ts';
import { run } from '../helpers/command.ts';

/** What is wrong with a data folder, and what is said of it. */
const rows: [says: string, make: (folder: string) => void, sentence: RegExp][] = [
  [
    'a store that is none',
    (folder) => writeFileSync(join(folder, 'service.db'), 'This is no database. '.repeat(500)),
    /service\.db .*damaged.*move it away/,
  ],
  [
    'a damaged store',
    (folder) => {
      const file = join(folder, 'service.db');
      openFile(file, { busyMs: 0 }).close();
      const bytes = readFileSync(file);
      // All but the header, which says that it is one of ours.
      writeFileSync(file, bytes.fill(0x5a, 100));
    },
    /service\.db .*damaged.*move it away/,
  ],
  [
    'a store of another program',
    (folder) => {
      const db = openFile(join(folder, 'service.db'), { busyMs: 0 });
      db.pragma('application_id = 1');
      db.close();
    },
    /service\.db belongs to another program/,
  ],
  [
    'a folder in place of the store',
    (folder) => mkdirSync(join(folder, 'service.db')),
    /service\.db is a folder.*move it away/,
  ],
  [
    'a folder in place of the key',
    (folder) => mkdirSync(join(folder, 'development-key')),
    /development-key is a folder.*move it away/,
  ],
  [
    'a key that is none',
    (folder) => writeFileSync(join(folder, 'development-key'), 'two words\nand lines\n'),
    /development-key .*no key.*delete it/,
  ],
];

void t.test('serve and exec say which file it is, and what to do', async (t) => {
  for (const [says, make, sentence] of rows) {
    for (const verb of ['serve', 'exec']) {
      const folder = mkdtempSync(join(t.testdir({}), 'data-'));
      make(folder);
      const more = verb === 'serve' ? ['--port', '0'] : ['--', process.execPath, '-e', '0'];
      const { code, stdout, stderr } = await run([verb, '--data', folder, ...more]);
      t.same([code, stdout], [2, ''], `${verb}: ${says}`);
      t.match(stderr, /^sandbox-kit: Can't start the service: [^\n]+[.]\n$/, `${verb}: ${says}`);
      t.match(stderr, sentence, `${verb}: ${says}`);
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

const skip = !isMounted && 'no disk can be mounted here';

void t.test('a data folder that is read-only', { skip }, async (t) => {
  for (const data of [readOnly, join(readOnly, 'new')]) {
    const { code, stderr } = await run(['serve', '--port', '0', '--data', data]);
    t.equal(code, 2);
    t.match(stderr, /^sandbox-kit: Can't start the service: .*kit-read-only.*read-only.*[.]\n$/);
  }
});
