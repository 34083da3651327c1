/** What the compiler makes of the sources runs as they do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { ROOT, listFiles } from '../helpers/repository.ts';

const product = listFiles().filter((path) =>
  /^(src|reference-agent|conformance|load)\/.*\.ts$/.test(path),
);
const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
  readFileSync(path, 'utf8'),
) as { config: { compilerOptions: object } };
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);

void t.test('an import in a function leads to what is built', (t) => {
  for (const path of product) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    // Beside `using` the compiler leaves the ending of an import in a function as it is.
    if (!/\bimport\(/.test(text) || !/\busing /.test(text)) continue;
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { ...options, noEmit: false, rewriteRelativeImportExtensions: true },
      fileName: join(ROOT, path),
    });
    const says = `${path}: move import() to a function without using`;
    t.notMatch(outputText, /\bimport\(['"][^'"]*\.ts['"]\)/, says);
  }
  t.end();
});
