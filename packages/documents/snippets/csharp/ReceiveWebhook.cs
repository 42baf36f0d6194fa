// C# on .NET Framework 4.6, Mono, or .NET 6 or newer; no packages needed. In ASP.NET the raw body is Request.Body.
//   WEBHOOK_SECRET=… PORT=3000 mono ReceiveWebhook.exe
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class ReceiveWebhook
{
    private const long ToleranceSeconds = 300;
    private const int BodyBytesMax = 1048576;
    private static readonly string Secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
    // In your server this is a table with a unique column, so that a restart forgets nothing.
    private static readonly HashSet<string> Seen = new HashSet<string>();

    private static bool IsGenuine(string timestamp, byte[] rawBody, string signature)
    {
        if (timestamp == null || signature == null || !Regex.IsMatch(timestamp, @"\A[0-9]{1,12}\z"))
        {
            return false;
        }
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > ToleranceSeconds)
        {
            return false;
        }
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(Secret)))
        {
            var prefix = Encoding.UTF8.GetBytes(timestamp + ".");
            hmac.TransformBlock(prefix, 0, prefix.Length, null, 0);
            hmac.TransformFinalBlock(rawBody, 0, rawBody.Length);
            var expected = BitConverter.ToString(hmac.Hash).Replace("-", "").ToLowerInvariant();
            // In constant time; on .NET 6 or newer CryptographicOperations.FixedTimeEquals does the same.
            var difference = expected.Length ^ signature.Length;
            for (var i = 0; i < expected.Length && i < signature.Length; i++)
            {
                difference |= expected[i] ^ signature[i];
            }
            return difference == 0;
        }
    }

    /// <summary>The bytes as received: a parsed and re-serialised body has another signature. Null when there are too many.</summary>
    private static byte[] ReadBody(Stream stream)
    {
        var body = new MemoryStream();
        var buffer = new byte[16384];
        for (var read = stream.Read(buffer, 0, buffer.Length); read > 0; read = stream.Read(buffer, 0, buffer.Length))
        {
            body.Write(buffer, 0, read);
            if (body.Length > BodyBytesMax)
            {
                return null;
            }
        }
        return body.ToArray();
    }

    private static void Receive(HttpListenerContext context)
    {
        var rawBody = ReadBody(context.Request.InputStream);
        if (rawBody == null)
        {
            Answer(context, 413);
            return;
        }
        var headers = context.Request.Headers;
        if (!IsGenuine(headers["X-Webhook-Timestamp"], rawBody, headers["X-Webhook-Signature"]))
        {
            Console.WriteLine("refused: wrong signature, or a timestamp more than 5 minutes off");
            Answer(context, 401);
            return;
        }
        var body = Encoding.UTF8.GetString(rawBody);
        // Delivery is at least once. The id in the body is signed, the one in the header is not. On .NET 6 or newer
        // take it with System.Text.Json.
        var id = Regex.Match(body, "\"id\":\\s*\"(evt_\\w+)\"").Groups[1].Value;
        var isNew = Seen.Add(id);
        Answer(context, 200);
        // Answered. Work that takes time belongs into a task of its own: the next delivery waits for this one.
        Console.WriteLine(isNew ? "received " + body : "ignored " + id + ": received before");
    }

    private static void Answer(HttpListenerContext context, int status)
    {
        context.Response.StatusCode = status;
        context.Response.Close();
    }

    public static int Main()
    {
        if (string.IsNullOrEmpty(Secret))
        {
            Console.Error.WriteLine("usage: WEBHOOK_SECRET=... PORT=3000 mono ReceiveWebhook.exe");
            return 2;
        }
        var port = Environment.GetEnvironmentVariable("PORT") ?? "3000";
        using (var listener = new HttpListener())
        {
            listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
            listener.Start();
            Console.WriteLine("listening on http://127.0.0.1:" + port + "/webhooks");
            while (true)
            {
                var context = listener.GetContext();
                try
                {
                    Receive(context);
                }
                catch (Exception error)
                {
                    // Whoever hung up must not end the program.
                    Console.Error.WriteLine(error.Message);
                    context.Response.Abort();
                }
            }
        }
    }
}
