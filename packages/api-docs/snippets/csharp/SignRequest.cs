// C# on .NET Framework 4.6, Mono, or .NET 6 or newer; no packages needed.
//   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… mono SignRequest.exe GET /me
//   … mono SignRequest.exe POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
using System;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;

public static class SignRequest
{
    /// <summary>path is what is really sent: with the /api/v1 prefix and the query string. body is empty when there is none.</summary>
    public static string Sign(string secret, string method, string path, string timestamp, byte[] body)
    {
        using (var sha256 = SHA256.Create())
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            var canonical = string.Join("\n", method, path, timestamp, Hex(sha256.ComputeHash(body)));
            return Hex(hmac.ComputeHash(Encoding.UTF8.GetBytes(canonical)));
        }
    }

    private static string Hex(byte[] bytes)
    {
        return BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();
    }

    public static int Main(string[] args)
    {
        var baseUrl = Environment.GetEnvironmentVariable("BASE_URL");
        var key = Environment.GetEnvironmentVariable("OPERATOR_KEY");
        var secret = Environment.GetEnvironmentVariable("OPERATOR_SECRET");
        if (args.Length < 2 || baseUrl == null || key == null || secret == null)
        {
            Console.Error.WriteLine("usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... mono SignRequest.exe METHOD PATH [BODY [IDEMPOTENCY_KEY]]");
            return 2;
        }
        var method = args[0];
        var url = baseUrl + args[1];
        var path = "/" + url.Split(new[] { '/' }, 4)[3];
        var body = Encoding.UTF8.GetBytes(args.Length > 2 ? args[2] : "");
        var timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString();
        var request = new HttpRequestMessage(new HttpMethod(method), url);
        request.Headers.Add("X-Operator-Key", key);
        request.Headers.Add("X-Timestamp", timestamp);
        request.Headers.Add("X-Signature", Sign(secret, method, path, timestamp, body));
        if (body.Length > 0)
        {
            request.Content = new ByteArrayContent(body);
            request.Content.Headers.Add("Content-Type", "application/json");
        }
        if (args.Length > 3)
        {
            request.Headers.Add("Idempotency-Key", args[3]);
        }
        using (var client = new HttpClient())
        {
            var response = client.SendAsync(request).Result;
            Console.WriteLine((int)response.StatusCode + " " + response.Content.ReadAsStringAsync().Result);
        }
        return 0;
    }
}
