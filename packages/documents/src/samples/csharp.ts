import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, joinedUrl, jsonOf, lines, pascalCase } from './text.ts'

const filename = (operationId: string) => `${pascalCase(operationId)}.cs`
const howToRun = (operationId: string) => [
  '// .NET 6 or newer: dotnet run',
  `// Mono: mcs -r:System.Net.Http.dll ${filename(operationId)} && mono ${pascalCase(operationId)}.exe`,
]
const printReply =
  '            Console.WriteLine((int)response.StatusCode + " " + response.Content.ReadAsStringAsync().Result);'

export const csharp: SampleLanguage = {
  id: 'csharp',
  name: 'C#',
  highlight: 'csharp',
  codeSample: 'C#',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      'using System;',
      'using System.Net.Http;',
      '',
      `public static class ${pascalCase(operationId)}`,
      '{',
      '    public static void Main()',
      '    {',
      '        using (var client = new HttpClient())',
      '        {',
      `            var response = client.GetAsync("${baseUrl}${path}").Result;`,
      printReply,
      '        }',
      '    }',
      '}',
      '',
    ),
  signed,
}

const verbatim = (json: string) => `@"${json.replaceAll('"', '""')}"`

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    howToRun(operationId),
    'using System;',
    'using System.Net.Http;',
    'using System.Security.Cryptography;',
    'using System.Text;',
    '',
    `public static class ${pascalCase(operationId)}`,
    '{',
    `    const string BaseUrl = "${baseUrl}";`,
    `    static readonly string Key = Environment.GetEnvironmentVariable("OPERATOR_KEY") ?? "${samplePlaceholders.key}";`,
    `    static readonly string Secret = Environment.GetEnvironmentVariable("OPERATOR_SECRET") ?? "${samplePlaceholders.secret}";`,
    '',
    '    static string Hex(byte[] bytes)',
    '    {',
    '        return BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();',
    '    }',
    '',
    '    static string Sign(string method, Uri url, string timestamp, string body)',
    '    {',
    '        using (var sha256 = SHA256.Create())',
    '        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(Secret)))',
    '        {',
    '            var bodySha256 = Hex(sha256.ComputeHash(Encoding.UTF8.GetBytes(body)));',
    String.raw`            var canonical = string.Join("\n", method, url.PathAndQuery, timestamp, bodySha256);`,
    '            return Hex(hmac.ComputeHash(Encoding.UTF8.GetBytes(canonical)));',
    '        }',
    '    }',
    '',
    '    public static void Main()',
    '    {',
    `        // ${summary}`,
    entriesOf(ids).map(([name, value]) => `        var ${name} = "${value}"; // ${yourId}`),
    `        var url = new Uri(${joinedUrl('BaseUrl', path)});`,
    `        var body = ${body === undefined ? '""' : verbatim(jsonOf(body, '        '))};`,
    '        var timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString();',
    `        var request = new HttpRequestMessage(HttpMethod.${pascalCase(method.toLowerCase())}, url);`,
    '        request.Headers.Add("X-Operator-Key", Key);',
    '        request.Headers.Add("X-Timestamp", timestamp);',
    `        request.Headers.Add("X-Signature", Sign("${method}", url, timestamp, body));`,
    needsIdempotencyKey && [
      `        var idempotencyKey = Environment.GetEnvironmentVariable("${keyVariable}") ?? Guid.NewGuid().ToString();`,
      `        request.Headers.Add("Idempotency-Key", idempotencyKey); // ${keepTheKey}`,
    ],
    body !== undefined && '        request.Content = new StringContent(body, Encoding.UTF8, "application/json");',
    '',
    '        using (var client = new HttpClient())',
    '        {',
    '            var response = client.SendAsync(request).Result;',
    printReply,
    '        }',
    '    }',
    '}',
    '',
  )
}
