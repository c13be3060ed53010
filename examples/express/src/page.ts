/** Shows who sends the events, and through which copy the page reads them. */
export function page(label: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>Maintenance</title>
<h1>Maintenance</h1>
<p>Read through <b>${label}</b>, sent by <b id="by">nobody yet</b>.</p>
<button>Run now</button>
<ol id="runs" reversed></ol>
<script>
  const events = new EventSource('/maintenance/events');
  const on = (name, show) => events.addEventListener(name, (event) => show(JSON.parse(event.data)));
  on('holder', ({ by }) => { document.getElementById('by').textContent = by; });
  on('run', ({ by, token, note }) => {
    const item = document.createElement('li');
    item.textContent = note + ': ' + by + ' in term ' + token;
    document.getElementById('runs').prepend(item);
  });
  document.querySelector('button').onclick = () => fetch('/maintenance/runs', { method: 'POST' });
</script>
`;
}
