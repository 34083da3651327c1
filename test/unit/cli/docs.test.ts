/** The generated reference pages, the schema of the configuration file, and the counts in other pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateDocs } from '../../../cli/docs/generate-docs.ts';
import { writeCounts } from '../../../cli/docs/documented-counts.ts';
import { ROOT } from '../../support/repository.ts';

void t.test('the output of npm run docs is up to date', async (t) => {
  for (const [path, text] of Object.entries(await generateDocs())) {
    t.equal(readFileSync(join(ROOT, path), 'utf8'), text, `${path}: run npm run docs`);
  }
});

void t.test('a count is written wherever its phrase occurs, even across a line break', (t) => {
  const write = (phrase: string): string =>
    writeCounts('page.md', 'It sends 7\nrequests. 7 calls. It sends 8 requests.', [[phrase, 12]]);
  t.equal(write('sends # requests'), 'It sends 12\nrequests. 7 calls. It sends 12 requests.');
  t.throws(() => write('# users'), /page\.md has no text "# users"/);
  t.end();
});
