using System;
using System.IO;
using System.Text;

/// <summary>Reads lines of base64 fields, as the Java driver does.</summary>
public static class Driver
{
    public static void Main(string[] args)
    {
        var count = 0;
        foreach (var line in File.ReadAllLines(args[0]))
        {
            var f = line.Split(' ');
            for (var i = 1; i < f.Length; i++) f[i] = Encoding.UTF8.GetString(Convert.FromBase64String(f[i])).Substring(1);
            var body = Encoding.UTF8.GetBytes(f[f.Length - 2]);
            var signature = f[f.Length - 1];
            if (f[0] == "request") Check(SignRequest.Sign(f[2], f[3], f[4], f[5], body) == signature, f[1]);
            else
            {
                var tolerance = long.Parse(f[4]);
                var now = long.Parse(f[5]);
                Check(VerifyWebhook.Verify(f[2], f[3], body, signature, tolerance, now) == (f[6] == "true"), f[1]);
                Check(!VerifyWebhook.Verify(f[2], f[3], Encoding.UTF8.GetBytes(f[f.Length - 2] + " "), signature, tolerance, now), f[1]);
            }
            count++;
        }
        Console.WriteLine("verified " + count);
    }

    private static void Check(bool good, string name)
    {
        if (!good) throw new Exception(name);
    }
}
