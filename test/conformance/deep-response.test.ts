/** A response that is nested a million levels deep is a failure, and every view of the report exists. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import { run } from '../support/commands/command.ts';
import { startLocally } from '../support/network/local-server.ts';

const DEEP = '['.repeat(1_000_000) + ']'.repeat(1_000_000);

void t.test('a reply that is nested too deeply fails, and the page says why', async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    const health = { status: 'healthy', timestamp: '2026-11-20T10:00:00Z' };
    const message = `{"role":"assistant","content":"Hello","extra":${DEEP}}`;
    response.end(
      request.url === '/health' ? JSON.stringify(health) : `{"choices":[{"message":${message}}]}`,
    );
  });
  const url = await startLocally(t, server);
  const directory = t.testdir();
  const [html, junit] = [join(directory, 'r.html'), join(directory, 'r.xml')];
  const args = ['check', url, '--area', 'chat', '--json', '-', '--html', html, '--junit', junit];
  const ran = await run(args);
  t.equal(ran.code, 1, ran.stderr);
  const report = JSON.parse(ran.stdout) as CheckReport;
  t.equal(report.verdict, 'not-conforming');
  t.match(ran.stdout, /nested more than 200 levels deep/);
  for (const file of [html, junit]) {
    t.match(readFileSync(file, 'utf8'), /nested more than 200 levels deep/, file);
  }
});
