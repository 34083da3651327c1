/** The generated reference pages, and the schema of the configuration file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateDocs } from '../../../src/cli/generate-docs.ts';
import { ROOT } from '../../helpers/repository.ts';

void t.test('the output of npm run docs is up to date', async (t) => {
  for (const [path, text] of Object.entries(await generateDocs())) {
    t.equal(readFileSync(join(ROOT, path), 'utf8'), text, `${path}: run npm run docs`);
  }
});
