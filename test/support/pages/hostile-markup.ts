/** Text that breaks out of markup, styles, and lines if a page does not escape it. */
export const HOSTILE_MARKUP = [
  '</style><script>window.ran = 1</script></pre></details></svg>',
  '<img src="http://127.0.0.1:9/beacon" onerror="window.ran = 2">',
  '<style>body { display: none }</style><base href="http://127.0.0.1:9/">',
  '<meta http-equiv="refresh" content="0; url=http://127.0.0.1:9/">',
  '" onmouseover="window.ran = 3" \' &amp; &lt; \u202Eback\u0000\u001B[31m \uD800 \u2028',
  'w'.repeat(3_000),
].join('\n');
